from river_budget._arrays import Floats

class Mixture:
    @property
    def layers(self) -> Floats: ...
