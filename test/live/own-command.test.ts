import { expect, test } from 'vitest'
import { runOwnCommand } from '../../src/live/own-command.ts'

test('a command whose process cannot be started returns the reason and throws nothing', async () => {
  const { ended, kill } = runOwnCommand(['\0'], 1_000)
  kill()
  const { error, stderr } = await ended
  expect(error).not.toBeNull()
  expect(stderr).toMatch('without null bytes')
})
