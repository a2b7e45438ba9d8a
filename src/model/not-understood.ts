import * as z from 'zod'
import { AGENT_TITLES, type HookAgent } from './agent-names.ts'

/** What a hook sent that the service could not read. It has names of fields, and never their values. */
export const notUnderstoodSchema = z.object({
  line: z.string().describe('The agent whose hook sent it, as its address says.'),
  sender: z.string().describe('The agent that seems to run the hook, as the names of fields say.'),
  event: z.string().nullable().describe('The name of the event; null if there is none.'),
  missing: z.array(z.string()).describe('What Casefile needs, and did not find.'),
  fields: z.array(z.string()).describe('The names of the fields that came.'),
  is_denied: z.boolean().describe('Whether the newest was denied. Others had no opinion.'),
  count: z.int(),
  first_at: z.string(),
  last_at: z.string(),
})
type Fields = z.output<typeof notUnderstoodSchema>
export type NotUnderstood = Omit<Fields, 'missing' | 'fields'> & {
  missing: readonly string[]
  fields: readonly string[]
}

/** Who sent what, and what is missing in it, as a sentence. */
export function notUnderstoodText({ line, sender, event, missing, is_denied }: NotUnderstood) {
  const who = sender in AGENT_TITLES ? AGENT_TITLES[sender as HookAgent] : sender
  const through = line === sender ? '' : ` through the hooks of ${line}`
  const what = event === null ? 'something' : event
  const result = is_denied ? 'It was denied.' : 'It was not denied, as no case is current there.'
  return `${who}${through} sent ${what} that Casefile cannot read: ${missingText(missing)}. ${result}`
}

/** What is missing, as a clause. */
export function missingText(missing: readonly string[]): string {
  return `it has no ${missing.join(', no ')}`
}
