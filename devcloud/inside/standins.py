def resource_mapping(): return {}
def constraint_mapping(): return {}
