import type { Attention } from '../../model/attention.ts'

/** The reason beside the two words for its kind: what they do not say already; empty where they say all. */
export function reasonText({ kind, text, session }: Attention): string {
  switch (kind) {
    case 'plan':
      return session === null ? text : `session ${session}`
    case 'failed':
      return text.replace(' failed:', ':')
    case 'blocked':
      return text.replace(/^(blocked|needs your input)[:;] /, '')
    case 'gate_open':
      return 'it can be resolved'
    case 'problem':
    case 'proof':
    case 'running':
      return text
  }
}
