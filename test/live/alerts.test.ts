import { describe, expect, it } from 'vitest'
import { type Alert, type AlertShape, Alerts, bodyOf } from '../../src/live/alerts.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'

const ESCAPE = String.fromCharCode(27)
const alert = (text: string): Alert => ({ kind: 'unknown', bot: 'dips', text, time: 1 })

function rig(accept: (body: string) => boolean, shape: AlertShape = 'generic') {
  const clock = new SimulatedClock(0)
  const posted: string[] = []
  const warnings: string[] = []
  const alerts = new Alerts({
    shape,
    clock,
    post: async (body) => {
      posted.push(body)
      return accept(body)
    },
    warn: (text) => warnings.push(text),
  })
  const pass = async (ms: number): Promise<void> => {
    for (let at = clock.now() + ms; clock.nextAt() <= at; ) {
      clock.advanceTo(clock.nextAt())
      await new Promise(setImmediate)
    }
  }
  return { alerts, posted, warnings, pass }
}

describe('alerts', () => {
  it('alerts that follow each other within a short time are sent in one message', async () => {
    const { alerts, posted, pass } = rig(() => true)
    for (const text of ['one', 'two']) alerts.raise(alert(text))
    expect(posted).toEqual([])
    await pass(60_000)
    expect(posted.map((body) => JSON.parse(body).alerts.map((one: Alert) => one.text))).toEqual([['one', 'two']])
  })

  it('an alert message that fails is sent again, then dropped and logged, and later alerts are still sent', async () => {
    const { alerts, posted, warnings, pass } = rig((body) => body.includes('later'))
    alerts.raise(alert('lost'))
    await pass(120_000)
    expect(posted).toHaveLength(4)
    expect(warnings).toEqual(['1 alerts could not be delivered'])
    alerts.raise(alert('later'))
    await pass(120_000)
    expect(posted).toHaveLength(5)
    expect(warnings).toHaveLength(1)
  })

  it('the queue of alerts is limited, and the message contains the number of alerts that did not fit', async () => {
    const { alerts, posted, pass } = rig(() => true)
    for (let count = 0; count < 250; count++) alerts.raise(alert(`${count}`))
    await pass(60_000)
    expect(JSON.parse(posted[0] as string)).toMatchObject({ dropped: 150 })
    expect(JSON.parse(posted[0] as string).alerts).toHaveLength(100)
    expect(posted).toHaveLength(1)
  })

  it.each<[shape: AlertShape, field: string]>([
    ['slack', 'text'],
    ['discord', 'content'],
  ])('text of a third party can create no mention, link or formatting in %s', (shape, field) => {
    const text = JSON.parse(bodyOf(shape, [alert(`<!channel> @everyone *bold* [x](http://evil) ${ESCAPE}[31m`)], 0))[
      field
    ] as string
    expect(text).not.toMatch(/<!|@everyone|\*bold|\]\(/)
    expect(text).not.toContain(ESCAPE)
    expect(text.length).toBeLessThanOrEqual(1_800)
  })
})
