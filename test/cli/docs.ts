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
        t.match(line, new RegExp(`casefile (prove |session |agent |webhook )?(${names})|--folder`))
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
  const wrong: [typed: string, suggested: string][] = [
    ['lst', 'list'],
    ['lst --help', 'list'],
    ['lst --all', 'list'],
    ['help lst', 'list'],
    ['edit', 'set'],
    ['create', 'new'],
    ['ls', 'list'],
    ['close', 'resolve'],
    ['run', 'start, agent run'],
    ['verify', 'prove verify, verify-commits'],
    ['proof', 'prove'],
    ['tail', 'session watch'],
    ['plan', 'session plan'],
    ['session wach', 'session watch'],
    ['prove verfy door', 'prove verify'],
  ]
  for (const [typed, suggested] of wrong) {
    const { code, stderr } = await cli.run(...typed.split(' '))
    t.equal(code, 2, typed)
    t.ok(stderr.endsWith(`. Did you mean ${suggested}?\n`), `${typed}: ${stderr}`)
  }
  t.match(await cli.run('zzzz'), {
    code: 2,
    stderr: 'casefile: no command "zzzz". casefile --help lists them.\n',
  })
  t.match(await cli.run('help', 'list'), { code: 0, stdout: /^Usage: casefile list/ })
})

t.test('the help of the program and of its groups fits on a screen of 24 lines', async (t) => {
  const cli = cliHere(t)
  for (const args of [[], ['session'], ['agent'], ['prove'], ['webhook']]) {
    const { stdout } = await cli.run(...args, '--help')
    const lines = stdout.trimEnd().split('\n')
    t.ok(lines.length < 24, stdout)
    for (const line of lines) t.ok(line.length <= 80, line)
  }
})
