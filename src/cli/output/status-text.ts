import type { ApiReader } from '../../client/client.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import type { StatusJson } from '../../http/schemas/status.ts'
import type { Action } from '../../model/next-act.ts'
import { durationsText } from '../../model/session-durations.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { Terminal } from './terminal.ts'

/** Prints where a case is, or one of its sessions, and the command that comes next. */
export async function sayStatus(
  { client, terminal }: { client: ApiReader; terminal: Terminal },
  caseId: string,
  session: Pick<SessionJson, 'id' | 'durations'> | null = null,
): Promise<void> {
  const took = session === null ? '' : durationsText(session.durations)
  const facts = took === '' ? '' : ` (${took})`
  terminal.say(statusText(await statusOf(client, caseId, session), caseId, facts))
}

export async function statusOf(
  client: ApiReader,
  caseId: string,
  session: Pick<SessionJson, 'id'> | null = null,
): Promise<StatusJson> {
  const query = session === null ? '' : `?session=${session.id}`
  return (await client.request('GET', `/cases/${caseId}/status${query}`)).body
}

/** Headline and detail, and `Next:` with a command on the line below. */
export function statusText(
  { headline, detail, next }: StatusJson,
  caseId: string,
  facts = '',
): string {
  const text = `${visibleText(`${headline} ${detail}`.trim())}${facts}`
  if (next === null) return text
  const how = next.act === 'set_up' ? '\nHow a runbook is written: casefile start --help' : ''
  return `${text}\nNext: ${commandFor(next, caseId)}${how}`
}

/** The command that does what comes next. */
export function commandFor({ act, session, artifact, ...about }: Action, caseId: string): string {
  const name = caseId.slice(0, 8)
  const proof = about.proof?.slice(0, 8)
  switch (act) {
    case 'review_plan':
      return `casefile approve ${name} ${session}`
    case 'edit_plan':
      return `casefile session plan ${name} ${session} --edit`
    case 'trust':
      return 'casefile doctor --trust'
    case 'watch':
      return `casefile session watch ${name} ${session}`
    case 'answer':
      return `casefile comment ${name}`
    case 'fix':
      return 'casefile doctor --check'
    case 'plan':
      return `casefile start ${name}`
    case 'plan_again':
      return `casefile start ${name} --again`
    case 'run_tests':
      return `casefile start ${name} --run-tests`
    case 'set_up': // run fences in the description are a runbook
      return `casefile open ${name} --edit`
    case 'edit_runbook':
      return `casefile open ${name} --folder`
    case 'use_terminal':
      return `casefile agent use ${name}`
    case 'attach':
      return `casefile prove add ${name} --artifact ${artifact}`
    case 'attach_file': {
      const type = about.proof_type === null ? '' : ` --type ${about.proof_type}`
      return `casefile prove add ${name} <file>${type}`
    }
    case 'verify':
      return `casefile prove verify ${name} ${proof}`
    case 'accept':
      return `casefile prove verify ${name} ${proof} --accept "<reason>"`
    case 'apply':
      return `casefile session apply ${name} ${session}`
    case 'resolve':
      return `casefile resolve ${name}`
    default:
      return act satisfies never
  }
}
