/** Frames that fit nothing, one after the other: what a broken or hostile service could send. */
const GARBAGE: readonly (() => string | Buffer)[] = [
  () => 'not json',
  () => '',
  () => 'null',
  () => '[]',
  () => '42',
  () => '{"type":"trade"}',
  () => '{"type":"trade","mint":7,"price":"1e400","timestamp":"soon"}',
  () => '{"type":"trade","mint":"11111111111111111111111111111111","price":NaN}',
  () =>
    '{"type":"trade","mint":"x","amount":1e999,"tokensTraded":-1,"price":-0,"marketCap":null,"timestamp":-1,"side":"hold"}',
  () => '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"type":"trade"}',
  () => '{"type":"newToken","mint":"11111111111111111111111111111111","name":{"toString":1},"metadata":"none"}',
  () => '{"type":"error","code":null}',
  () => '{"type":"authenticated"}',
  () => Buffer.from([0, 255, 254, 1, 2, 3]),
  () => `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  () => `{"type":"newToken","name":"${'x'.repeat(10_000_000)}"}`,
]

export function garbageFrame(index: number): string | Buffer {
  return GARBAGE[index % GARBAGE.length]!()
}
