import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readPage } from './fixtures/doc-code.ts'
import { typedOf } from './fixtures/doc-console.ts'
import { blocksOf } from './fixtures/doc-pages.ts'
import { type } from './fixtures/doc-typing.ts'

t.test(
  'the tutorial without an agent works in an empty folder, and prints what it shows',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'casefile-tutorial-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const name = 'docs/tutorial-no-agent.md'
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
