import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readPage } from './fixtures/doc-code.ts'
import { isShown, typedOf } from './fixtures/doc-console.ts'
import { blocksOf } from './fixtures/doc-pages.ts'
import { type } from './fixtures/doc-typing.ts'
import { inLongLane } from './fixtures/full.ts'

t.test(
  'the tutorial without an agent works in an empty folder, and prints what it shows',
  inLongLane,
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'casefile-tutorial-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const name = 'docs/tutorial.md'
    const blocks = blocksOf(readPage(name))
    const [runbook] = blocks.filter(({ language }) => language === 'markdown')
    writeFileSync(join(folder, 'runbook.md'), runbook!.code)
    const typed = blocks
      .filter(({ language, words }) => /^(sh|console)$/.test(language) && words === '')
      .flatMap(typedOf)
    const save = { line: 0, command: 'cp ../runbook.md runbook.md', shown: '' }
    const begin = typed.findIndex(({ command }) => command.startsWith('mv runbook.md'))
    await type(t, name, [...typed.slice(0, begin), save, ...typed.slice(begin)], {
      cwd: folder,
      env: { XDG_STATE_HOME: join(folder, 'state') },
    })
  },
)

t.test('the tutorial with Claude Code shows what was recorded with it', async (t) => {
  const recorded = fileURLToPath(new URL('fixtures/agents/tutorial-claude.txt', import.meta.url))
  const name = 'docs/tutorial.md'
  const printed = new Map(
    readFileSync(recorded, 'utf8')
      .split(/^(?=\$ (?:casefile|claude) )/m)
      .map((part) => {
        const [first = '', ...rest] = part.split('\n')
        return [first.slice(2), rest.join('\n').trim()]
      }),
  )
  const typed = blocksOf(readPage(name))
    .filter(({ words }) => words === 'example')
    .flatMap(typedOf)
  const shown = typed.filter((each) => each.shown !== '')
  t.equal(shown.length, 3)
  for (const { line, command, shown: text } of shown) {
    const came = printed.get(command)
    t.ok(came !== undefined && isShown(text, came), `${name}:${line}`, { text, came })
  }
})
