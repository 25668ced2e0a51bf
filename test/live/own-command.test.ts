import { expect, test } from 'vitest'
import { runOwnCommand } from '../../src/live/own-command.ts'

test('if the process of a command cannot be started, the result contains the reason, and no error is thrown', async () => {
  const { ended, kill } = runOwnCommand(['\0'], 1_000)
  kill()
  const { error, stderr } = await ended
  expect(error).not.toBeNull()
  expect(stderr).toMatch('without null bytes')
})
