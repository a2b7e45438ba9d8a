import { Command } from 'commander'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import { isClosed } from '../../model/attention.ts'
import type { CaseState } from '../../model/case-state.ts'
import { caseArgument, explain, sessionArgument } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { caseText } from '../output/case-text.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { nextProof, nextProofText } from '../output/next-proof.ts'
import { printSession } from '../output/session-text.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession } from '../resolve/session.ts'
import { type WholeCase, wholeCase, wholeCaseWithContents } from '../resolve/whole-case.ts'

export function command(): Command {
  const show = new Command('show')
    .description('Show a case, or one of its sessions.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument('show the case itself'))
    .action((name: string, word: string | undefined, options: CommandOptions) =>
      withReader(options, (context) => run(context, name, word)),
    )
  return explain(show, {
    examples: [
      ['casefile show "sign-in"', 'Find a case by part of its title.'],
      ['casefile show c12d latest', 'Show its newest session.'],
    ],
    exits: [EXIT.unknown],
  })
}

async function run(
  context: ReadContext,
  name: string,
  word: string | undefined,
): Promise<ExitCode> {
  const { client, terminal, json } = context
  const id = await resolveCase(client, name)
  if (word !== undefined) {
    const session = await resolveSession(client, id, word)
    if (json) terminal.print(jsonText(session))
    else await printSession(context, session)
    return EXIT.done
  }
  if (json) {
    terminal.print(jsonText(await wholeCaseWithContents(client, id)))
    return EXIT.done
  }
  const [whole, triage] = await Promise.all([
    wholeCase(client, id),
    client.request('GET', `/triage?named=${id}`),
  ])
  const [row]: TriageRowJson[] = triage.body
  terminal.print(caseText(whole, row?.needs ?? null, context))
  await sayNext(context, whole)
  return EXIT.done
}

/** The next action of the operator, if there is one. */
async function sayNext(
  { client, terminal }: ReadContext,
  { id, state, sessions, gate }: WholeCase,
): Promise<void> {
  const name = id.slice(0, 8)
  const waiting = sessions.find((session) => session.state === 'plan_ready')
  const newest = sessions.find(({ number }) => sessions.every((other) => other.number <= number))
  if (waiting) terminal.say(`\nNext: casefile approve ${name} ${waiting.number}`)
  else if (isClosed(state as CaseState)) return
  else if (newest?.state === 'failed') terminal.say(`\nNext: casefile start ${name} --again`)
  else if (gate.open) terminal.say(`\nNext: casefile resolve ${name}`)
  else if (sessions.length === 0) terminal.say(`\nNext: casefile start ${name}`)
  else if (state === 'VERIFYING' || newest?.state === 'complete')
    terminal.say(`\n${nextProofText(await nextProof(client, id))}`)
}
