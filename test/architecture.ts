import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readPage } from './fixtures/doc-code.ts'

const page = readPage('CONTRIBUTING.md')
const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

t.test('CONTRIBUTING.md names files that exist', async (t) => {
  const named = [...page.matchAll(/`((?:src|test)\/[\w./-]*)`/g)].map(([, name = '']) => name)
  t.ok(named.length > 20)
  for (const name of named) t.ok(existsSync(pathOf(name)), name)
})

t.test('what it follows an approve through is in these files', async (t) => {
  const rows = [...page.matchAll(/^\| `(src\/\S+)` \| `([\w-]+)` \|/gm)]
  t.ok(rows.length > 15)
  for (const [, file = '', name = ''] of rows) {
    const text = readFileSync(pathOf(file), 'utf8')
    t.match(text, new RegExp(`(?<![\\w-])${name}(?![\\w-])`), `${file}: ${name}`)
  }
})
