import { readFileSync } from 'node:fs'
import t from 'tap'
import { docsPage } from '../../docs/cli-page.ts'
import { defaultSubcommand, getExplanation } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { casefile } from '../../src/cli/program.ts'
import { cliHere } from '../fixtures/cli-here.ts'

const program = casefile({ version: '', sample: '', program: '' }, COMMANDS)
const all = program.commands.flatMap((command) =>
  command.commands.length > 0 ? command.commands : [command],
)

t.test('docs/cli.md is what the definitions say (npm run docs:cli)', async (t) => {
  const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
  t.equal(page, docsPage(program))
})

t.test('every command', async (t) => {
  for (const command of all) {
    await t.test(command.name(), async (t) => {
      const hasOwnForm = ['mcp', 'completion'].includes(command.name())
      t.ok(hasOwnForm || command.options.some(({ long }) => long === '--json'), 'speaks JSON')
      const { examples = [] } = getExplanation(command) ?? {}
      t.ok(examples.length > 0, 'has an example')
      const isDefault = command.parent && defaultSubcommand(command.parent) === command
      const names = isDefault ? `${command.name()}|${command.parent?.name()}` : command.name()
      for (const [line] of examples)
        t.match(
          line,
          new RegExp(
            `casefile (proof |webhook |hooks |notify |comment |queue |worktree )?(${names})|--folder`,
          ),
        )
      let help = ''
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
      t.match(help, /^Examples?:\n {2}/m, 'which its help shows')
      t.match(command.description(), /^[A-Z].*\.$/, 'is described in a sentence')
      for (const { description } of command.options) t.match(description, /^[A-Z].*\.$/)
      const [own, shared] = [help.indexOf('\nOptions:'), help.indexOf('\nShared options:')]
      t.ok(shared > own, 'lists its own options first')
    })
  }
})

t.test('a name that is no command', async (t) => {
  const cli = cliHere(t)
  for (const args of [['lst'], ['lst', '--help'], ['lst', '--all']]) {
    const unknown = { code: 2, stderr: /unknown command 'lst'\n.*Did you mean list\?/ }
    t.match(await cli.run(...args), unknown)
  }
  t.match(await cli.run('--help'), { code: 0, stdout: /^Cases:\n {2}new/m })
  t.match(await cli.run('help', 'list'), { code: 0, stdout: /^Usage: casefile list/ })
})
