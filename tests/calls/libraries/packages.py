"""The packages of other people that are tried, and where their own examples stand."""

from attrs import frozen

__all__ = ["LIBRARIES", "Library"]


@frozen
class Library:
    """A package, and whose docstrings have examples.

    Attributes
    ----------
    package : str
        The name that it is imported by.
    modules : str
        Those whose docstrings' examples are run, a space between them. The lines of
        ``texts/PACKAGE.txt``, which are taken from its readme and its documentation, are run too.
    """

    package: str
    modules: str = ""


LIBRARIES: dict[str, Library] = {
    "PyPortfolioOpt": Library("pypfopt"),
    "ahrs": Library(
        "ahrs",
        "ahrs.common.orientation ahrs.common.quaternion ahrs.common.dcm ahrs.common.mathfuncs "
        "ahrs.common.frames ahrs.utils.metrics ahrs.utils.core ahrs.utils.wgs84 "
        "ahrs.filters.angular ahrs.filters.tilt ahrs.filters.saam ahrs.filters.famc "
        "ahrs.filters.triad ahrs.filters.davenport ahrs.filters.madgwick ahrs.filters.mahony",
    ),
    "astropy": Library(
        "astropy", "astropy.convolution.kernels astropy.stats.funcs astropy.stats.circstats"
    ),
    "chemicals": Library(
        "chemicals",
        "chemicals.vapor_pressure chemicals.volume chemicals.heat_capacity chemicals.virial "
        "chemicals.viscosity chemicals.thermal_conductivity chemicals.interface "
        "chemicals.rachford_rice chemicals.iapws",
    ),
    "colour-science": Library(
        "colour",
        "colour.models.cie_lab colour.models.cie_luv colour.models.rgb.transfer_functions.srgb "
        "colour.difference.delta_e colour.appearance.ciecam02 colour.appearance.ciecam16 "
        "colour.models.cam02_ucs colour.models.cie_xyy colour.models.oklab colour.models.ipt "
        "colour.models.hunter_lab colour.adaptation.vonkries colour.adaptation.cie1994 "
        "colour.temperature.mccamy1992 colour.phenomena.rayleigh colour.algebra.common",
    ),
    "control": Library(
        "control", "control.bdalg control.lti control.statefbk control.canonical control.timeresp"
    ),
    "emcee": Library("emcee"),
    "empyrical-reloaded": Library("empyrical"),
    "filterpy": Library(
        "filterpy",
        "filterpy.common.discretization filterpy.common.kinematic filterpy.gh.gh_filter "
        "filterpy.kalman.kalman_filter filterpy.stats.stats filterpy.kalman.UKF",
    ),
    "fluids": Library(
        "fluids",
        "fluids.friction fluids.core fluids.fittings fluids.geometry fluids.two_phase "
        "fluids.flow_meter fluids.drag fluids.packed_bed fluids.compressible fluids.open_flow",
    ),
    "gsw": Library("gsw"),
    "ht": Library(
        "ht",
        "ht.hx ht.conv_internal ht.conv_free_immersed ht.boiling_nucleic ht.conv_external "
        "ht.conduction ht.conv_tube_bank ht.radiation",
    ),
    "lifelines": Library("lifelines", "lifelines.utils.concordance"),
    "lmfit": Library("lmfit"),
    "mir_eval": Library(
        "mir_eval",
        "mir_eval.beat mir_eval.melody mir_eval.separation mir_eval.util mir_eval.alignment",
    ),
    "mpmath": Library("mpmath"),
    "numdifftools": Library(
        "numdifftools",
        "numdifftools.core numdifftools.extrapolation numdifftools.fornberg numdifftools.limits",
    ),
    "numpy-financial": Library("numpy_financial", "numpy_financial._financial"),
    "pint": Library("pint"),
    "pvlib": Library(
        "pvlib",
        "pvlib.shading pvlib.iam pvlib.singlediode pvlib.temperature pvlib.pvarray pvlib.pvsystem "
        "pvlib.spectrum.response",
    ),
    "pykalman": Library("pykalman"),
    "pymanopt": Library("pymanopt"),
    "pyquaternion": Library("pyquaternion"),
    "ruptures": Library("ruptures"),
    "scikit-learn": Library(
        "sklearn",
        "sklearn.metrics.pairwise sklearn.metrics._regression sklearn.preprocessing._data "
        "sklearn.gaussian_process.kernels",
    ),
    "scikit-rf": Library(
        "skrf",
        "skrf.network skrf.util skrf.mathFunctions skrf.media.freespace "
        "skrf.media.rectangularWaveguide",
    ),
    "skyfield": Library("skyfield", "skyfield.units skyfield.trigonometry"),
    "statsmodels": Library(
        "statsmodels",
        "statsmodels.stats.dist_dependence_measures statsmodels.robust.scale "
        "statsmodels.robust.norms statsmodels.tsa.arima_process statsmodels.stats.moment_helpers",
    ),
    "sympy": Library("sympy"),
    "tensorly": Library(
        "tensorly", "tensorly.tenalg.proximal tensorly.tenalg.core_tenalg.mttkrp tensorly.metrics"
    ),
    "transforms3d": Library(
        "transforms3d",
        "transforms3d.quaternions transforms3d.euler transforms3d.affines transforms3d.axangles "
        "transforms3d.shears transforms3d.zooms transforms3d.taitbryan transforms3d.reflections "
        "transforms3d._gohlketransforms",
    ),
    "uncertainties": Library("uncertainties"),
    "xarray": Library("xarray"),
}
"""The packages by the names that the index has them under."""
