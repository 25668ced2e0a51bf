import { run } from '../../src/commands/sandbox.ts'

/** `sluice sandbox` with its flags as JSON, for tests that kill it. */
process.exitCode = await run([], JSON.parse(process.argv[2] ?? '{}'))
