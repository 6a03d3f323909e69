"""What a look inside is shown as: text, HTML, SVG and DOT, made of plain data.

Nothing here knows a record or a handle; what does know them collects what is to be shown.
"""
