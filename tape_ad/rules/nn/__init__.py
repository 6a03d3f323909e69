"""The functions behind `tape_ad.nn`, each one node, with their rules."""
