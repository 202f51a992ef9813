"""A report in the forms people read: terminal text, static cell output, a page of its own, and a notebook view.

Each renderer is a pure function of a judged `Report`; none of them needs torch, and each is loaded when it is used.
"""
