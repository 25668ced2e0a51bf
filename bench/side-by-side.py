"""The same strategy, series, fills and money in a framework of Python: side-by-side.ts starts it.

usage: side-by-side.py backtrader|backtesting SOURCE PRICES LOT FEE CASH
SOURCE is a checkout of the framework. Prints {"orders", "equity", "seconds"}: processor time of the run alone.
"""
import json
import sys
import time
import types
import warnings

FAST, SLOW = 20, 50
framework, source, prices_file = sys.argv[1:4]
lot, fee, cash = (float(value) for value in sys.argv[4:7])
warnings.simplefilter('ignore')
sys.path.insert(0, source)

import pandas as pd  # noqa: E402

prices = pd.read_csv(prices_file, header=None)[0].astype(float)
frame = pd.DataFrame({name: prices.values for name in ('Open', 'High', 'Low', 'Close')})
frame['Volume'] = 1.0
frame.index = pd.date_range('2026-01-01', periods=len(prices), freq='s')


def run_backtrader():
    import backtrader as bt

    class FixedFee(bt.CommInfoBase):
        params = (('stocklike', True), ('commtype', bt.CommInfoBase.COMM_FIXED))

        def _getcommission(self, size, price, pseudoexec):
            return fee

    class Cross(bt.Strategy):
        def __init__(self):
            self.fast = bt.ind.SMA(self.data.close, period=FAST)
            self.slow = bt.ind.SMA(self.data.close, period=SLOW)
            self.above = False
            self.orders = 0

        def next(self):
            if len(self) <= SLOW:
                return
            above = self.fast[0] > self.slow[0]
            if above == self.above:
                return
            self.above = above
            if above and not self.position:
                self.buy(size=lot)
            elif not above and self.position:
                self.close()

        def notify_order(self, order):
            if order.status == order.Completed:
                self.orders += 1

    cerebro = bt.Cerebro(stdstats=False)
    cerebro.adddata(bt.feeds.PandasData(dataname=frame))
    cerebro.addstrategy(Cross)
    cerebro.broker.setcash(cash)
    cerebro.broker.addcommissioninfo(FixedFee())
    began = time.process_time()
    [strategy] = cerebro.run()
    return strategy.orders, cerebro.broker.getvalue(), time.process_time() - began


def run_backtesting():
    # Its pictures want bokeh, which nothing here draws with.
    plotting = types.ModuleType('backtesting._plotting')
    plotting.plot = plotting.plot_heatmaps = plotting.set_bokeh_output = lambda *_args, **_options: None
    sys.modules['backtesting._plotting'] = plotting
    from backtesting import Backtest, Strategy

    class Cross(Strategy):
        def init(self):
            average = lambda values, count: pd.Series(values).rolling(count).mean().values  # noqa: E731
            self.fast = self.I(average, self.data.Close, FAST)
            self.slow = self.I(average, self.data.Close, SLOW)
            self.above = False

        def next(self):
            above = self.fast[-1] > self.slow[-1]
            if above == self.above:
                return
            self.above = above
            if above and not self.position:
                self.buy(size=lot)
            elif not above and self.position:
                self.position.close()

    backtest = Backtest(frame, Cross, cash=cash, commission=(fee, 0))
    began = time.process_time()
    stats = backtest.run()
    seconds = time.process_time() - began
    orders = 2 * len(stats['_trades']) + len(stats['_strategy'].trades)
    return orders, stats['Equity Final [$]'], seconds


orders, equity, seconds = run_backtrader() if framework == 'backtrader' else run_backtesting()
print(json.dumps({'orders': orders, 'equity': equity, 'seconds': seconds}))
