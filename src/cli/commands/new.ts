import { Command, Option } from 'commander'
import { parseRequirements } from '../../markdown/requirement-line.ts'
import { CASE_FIELDS, NEW_CASE_FIELDS } from '../../model/case-fields.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { fieldOption, fieldValues, sayUnusual } from '../field-options.ts'
import { followPlanning } from '../follow/follow.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { sayStatus } from '../output/status-text.ts'

type Options = CommandOptions & { prove?: string[]; plan?: boolean; use?: boolean } & Readonly<
    Record<string, unknown>
  >

const OFFERED = NEW_CASE_FIELDS.filter(({ required, option }) => option && !required)

export function command(): Command {
  const create = new Command('new')
    .description('Create a case.')
    .argument('<title>', `${CASE_FIELDS.title.about}.`)
  for (const field of OFFERED) create.addOption(fieldOption(field))
  create
    .addOption(
      new Option(
        '--prove <text>',
        'What must be proved, instead of the checklist in casefile.md: "Looks right (screenshot)"; "(screenshot, optional)" is not required. Repeatable.',
      ).argParser((text: string, before: string[] = []) => [...before, text]),
    )
    .option('--plan', 'Start a session and wait for its plan.')
    .option('--use', 'Make it current in this folder, for the agents that you run here.')
  create.action((title: string, options: Options) =>
    withService(options, (context) => run(context, title, options)),
  )
  return explain(create, {
    examples: [
      ['casefile new "Sign-in fails" --tag auth', 'Create a bug with a tag.'],
      ['casefile new "Sign-in fails" --prove "All tests pass" --plan', 'Require proof, and plan.'],
      ['casefile new "Export as CSV" --type feature -d - < wish.md', 'Describe it in a file.'],
    ],
    exits: [EXIT.unknown, EXIT.sessionFailed, EXIT.interrupted],
  })
}

async function run(context: CommandContext, title: string, options: Options): Promise<ExitCode> {
  const { client, terminal, json } = context
  const { prove = [], plan = false, use = false } = options
  const checklist = parseRequirements(prove.join('\n'))
  const fields = {
    title,
    ...(await fieldValues(client, OFFERED, options)),
    ...(prove.length === 0 ? {} : { checklist }),
  }
  const { body } = await client.request('POST', '/cases', { body: fields })
  await sayUnusual(context, options)
  for (const { type } of checklist) await sayUnusual(context, { 'proof type': type })
  if (use) {
    const current = { folder: process.cwd(), case_id: body.id }
    await client.request('PUT', '/current-case', { body: current })
  }
  const line = `${body.id}  ${visibleText(body.title)}`
  if (plan) {
    // the case is there whatever comes of the session
    if (json) terminal.say(line)
    else terminal.print(`${line}\n`)
    const session = { type: 'implementing' }
    const started = await client.request('POST', `/cases/${body.id}/sessions`, { body: session })
    return followPlanning(context, started.body)
  }
  if (json) terminal.print(jsonText(body))
  else {
    terminal.print(`${line}\n`)
    if (use) terminal.say('It is current here.')
    await sayStatus(context, body.id)
  }
  return EXIT.done
}
