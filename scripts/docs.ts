// Writes the pages of the documents that are generated from the sources, and checks the docstrings of everything that
// the package exports. With `--check` no page is written, and a page that is out of date is an error.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { apiPage } from './docs/api-page.ts'
import { configurationPage } from './docs/configuration-page.ts'
import { findingsOf } from './docs/docstring-rules.ts'
import { monitoringPage } from './docs/monitoring-page.ts'
import { readEntryPoints } from './docs/reflections.ts'

const entryPoints = readEntryPoints()
const isCheck = process.argv.includes('--check')
const pages = {
  'docs/api.md': apiPage(entryPoints),
  'docs/configuration.md': await configurationPage(),
  'docs/monitoring.md': monitoringPage(),
}
const problems = findingsOf(entryPoints).map(({ place, message }) => `${place} ${message}`)

for (const [path, text] of Object.entries(pages)) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (isCheck) problems.push(`${path} is out of date: run \`npm run docs\` and commit the page`)
  else writeFileSync(path, text)
}

for (const problem of problems) console.error(problem)
console.error(`docs: ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
