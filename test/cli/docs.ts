import { readFileSync } from 'node:fs'
import t from 'tap'
import { explanationOf } from '../../src/cli/definitions/explained.ts'
import { casefile } from '../../src/cli/definitions/program.ts'
import { docsPage } from '../../src/cli/docs-page.ts'

const program = casefile({ version: '', sample: '', program: '' })
const all = program.commands.flatMap((command) =>
  command.commands.length > 0 ? command.commands : [command],
)

t.test('docs/cli.md is what the definitions say (npm run docs:cli)', async (t) => {
  const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
  t.equal(page, docsPage(program))
})

t.test('every command', async (t) => {
  t.equal(all.length, 33)
  for (const command of all) {
    t.test(command.name(), async (t) => {
      const isJson = command.name() === 'mcp' // by its protocol
      t.ok(isJson || command.options.some(({ long }) => long === '--json'), 'speaks JSON')
      const { examples = [] } = explanationOf(command) ?? {}
      t.ok(examples.length > 0, 'has an example')
      for (const [line] of examples)
        t.match(line, new RegExp(`casefile (proof )?${command.name()}|--folder`))
      let help = ''
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
      t.match(help, /^Examples?:\n {2}/m, 'which its help shows')
    })
  }
})
