"""The NumPy engine: a program written as Python, with the same bits as eager."""
