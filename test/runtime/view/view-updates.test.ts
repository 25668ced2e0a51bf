import { expect, test } from 'vitest'
import type { Reading } from '../../../src/runtime/view/read-view.ts'
import { type Update, type ViewFollower, ViewUpdates } from '../../../src/runtime/view/view-updates.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { viewOf } from '../../support/view-sample.ts'

const START = 1_800_000_000_000

/** A view whose sequence number grows with each message, and the times at which the view was read. */
class Scene {
  readonly clock = new SimulatedClock(START)
  readonly readAt: number[] = []
  readonly changes: Update[] = []
  seq = 0
  failure: Error | undefined
  failed = 0
  readonly committing = new Int32Array(1)
  readonly updates: ViewUpdates
  #heard: (() => void) | undefined

  constructor() {
    this.updates = new ViewUpdates({
      clock: this.clock,
      read: (n) => this.#read(n),
      onLog: () => () => {},
      onMessage: (run) => {
        this.#heard = run
        return () => {
          this.#heard = undefined
        }
      },
      committing: this.committing,
      failed: () => this.failed++,
    })
  }

  /** Sends messages at the times `messages`, ms from now. Returns the times in the next `ms` ms at which the view was
   *  read. */
  run(messages: readonly number[], ms: number): number[] {
    const from = this.clock.now()
    const before = this.readAt.length
    for (const at of messages)
      this.clock.after(at, () => {
        this.seq++
        this.#heard?.()
      })
    this.clock.advanceTo(from + ms)
    return this.readAt.slice(before).map((at) => at - from)
  }

  /** Follows the view, and keeps its changes. */
  follow(changed: (update: Update) => void = () => {}): () => void {
    const follower: ViewFollower = {
      begin: () => {},
      change: (update) => {
        this.changes.push(update)
        changed(update)
      },
    }
    return this.updates.follow(follower)
  }

  #read(n: number): Reading {
    if (this.failure !== undefined) throw this.failure
    this.readAt.push(this.clock.now())
    return { view: viewOf({ id: `1-${n}`, seq: this.seq, time: this.clock.now() }), positions: [] }
  }
}

function watchedScene(changed?: (update: Update) => void): Scene {
  const scene = new Scene()
  scene.follow(changed)
  scene.updates.watched(true)
  scene.run([], 1_000)
  return scene
}

test('the view is read 20 ms after a message, once for all messages until then', () => {
  const scene = watchedScene()
  const [before = 0] = scene.run([], 300)
  expect(before).toBeLessThan(100)
  expect(scene.run([0, 1, 10, 20], 100)).toEqual([20])
  expect(scene.changes.at(-1)?.set.seq).toBe(4)
})

test('during many messages the view is read every 90 ms, and each message is announced within 110 ms', () => {
  const written: [seq: number, at: number][] = []
  const scene = watchedScene(({ set: { seq = 0 } }) => {
    for (const [_, at] of written.splice(0, written.findLastIndex(([one]) => one <= seq) + 1))
      expect(scene.clock.now() - at).toBeLessThanOrEqual(110)
  })
  const storm = Array.from({ length: 3_000 }, (_, index) => index)
  for (const at of storm) scene.clock.after(at, () => void written.push([scene.seq + 1, scene.clock.now()]))
  const readings = scene.run(storm, 3_200)
  expect(written).toEqual([])
  expect(readings.length).toBeLessThanOrEqual(3_200 / 90 + 1)
})

test('the view is read up to 40 ms later while an order waits for a commit, so that the order is sent first', () => {
  const scene = watchedScene()
  scene.run([], 300)
  scene.clock.after(15, () => scene.committing.fill(1))
  scene.clock.after(31, () => scene.committing.fill(0))
  expect(scene.run([0], 200)).toEqual([32])
  scene.committing.fill(1)
  expect(scene.run([0], 200)).toEqual([60])
  expect(scene.run([], 10_000).length).toBeGreaterThan(17)
})

test('without messages the view is read twice a second, and without a browser once a second, even if messages arrive', () => {
  const scene = watchedScene()
  expect(scene.run([], 10_000)).toHaveLength(20)
  scene.updates.watched(false)
  scene.run([], 1_000)
  expect(scene.run([5, 300, 301, 4_000], 10_000)).toHaveLength(10)
  scene.updates.watched(true)
  expect(scene.run([], 100)[0]).toBeLessThanOrEqual(90)
})

test('the view is not read without a follower, and a failure to read it is reported once', () => {
  const scene = new Scene()
  scene.updates.watched(true)
  expect(scene.run([1, 2, 3], 5_000)).toEqual([])
  const stop = scene.follow()
  scene.run([1, 2, 3], 5_000)
  stop()
  expect(scene.run([1, 2, 3], 5_000)).toEqual([])
  scene.follow()
  scene.failure = new Error('the model is broken')
  expect(scene.run([1, 500], 5_000)).toEqual([])
  expect(scene.failed).toBe(1)
})
