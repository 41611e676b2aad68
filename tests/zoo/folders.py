"""Where the zoo keeps a model."""

import re


def folder_name(name, form, origin):
    return re.sub(r"[^A-Za-z0-9_.]+", "-", name) + f"-{form}-{origin}"
