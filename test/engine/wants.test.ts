import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Wants } from '../../src/engine/engine-state.ts'
import type { Output } from '../../src/engine/messages.ts'

it('after each change, all wanted subscription keys are emitted in order, and an emitted list never changes', () => {
  const key = fc.constantFrom('trades', 'm1', 'm2', 'm3')
  const step = fc.record({ what: fc.constantFrom('add', 'drop', 'flush', 'warm'), key })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const said: Output[] = []
      const then: string[] = []
      const stage = { now: 0, warming: false, emit: (output: Output) => said.push(output) }
      const wants = new Wants(stage)
      const counts = new Map<string, number>()
      let isNews = false
      for (const { what, key } of steps) {
        const count = counts.get(key) ?? 0
        if (what === 'add') {
          wants.add(key)
          counts.set(key, count + 1)
          isNews ||= count === 0
        } else if (what === 'drop') {
          wants.drop(key)
          if (count > 1) counts.set(key, count - 1)
          else isNews = counts.delete(key) || isNews
        } else if (what === 'warm') stage.warming = !stage.warming
        else {
          wants.flush()
          if (isNews && !stage.warming) {
            then.push(JSON.stringify({ kind: 'keys', want: [...counts.keys()] }))
            isNews = false
          }
        }
        expect(said.map((output) => JSON.stringify(output))).toEqual(then)
      }
    }),
  )
})
