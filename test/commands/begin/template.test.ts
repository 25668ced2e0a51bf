import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { projectFiles } from '../../../src/commands/begin/project-files.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { worstCaseOf } from '../../../src/config/worst-case.ts'
import { NO_LIMITS } from '../../../src/engine/limits/limit-rules.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()

test('the worst case of a new project is near its limit of 1 SOL per hour', async () => {
  const files = projectFiles(folder.path, 'file:sluice.tgz', {})
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true })
    writeFileSync(join(folder.path, name), text)
  }
  const loaded = await loadConfig(['bots.yaml'], { cwd: folder.path })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const { bots, wallets, service } = loaded.config
  const [bot] = bots as [(typeof bots)[number]]
  expect(bot.limits.maxLamportsPerHour).toBe(1e9)
  const { perOrder, perHour, loss } = worstCaseOf(bot, wallets[0]?.limits ?? NO_LIMITS, service.plan)
  expect(perOrder).toBeLessThan(0.08e9)
  expect(perHour).toBeLessThan(1.5e9)
  expect(loss).toBeLessThan(0.4e9)
})
