"""How people see it: a board in the browser, and the server behind it.

Nothing is imported here: the page is to be there before NumPy, Numba and PyTorch are.
"""
