import { helpPage } from './addresses.ts'

interface Topic {
  page: string
  /** Of a heading of that page. */
  anchor: string
  /** What the reader wonders. */
  about: string
}

export const HELP_TOPICS = {
  waiting: { page: 'console', anchor: 'cases', about: 'what waits for you' },
  inbox: { page: 'console', anchor: 'inbox', about: 'the inbox' },
  approve: { page: 'problems', anchor: 'why-is-approve-disabled', about: 'Approve' },
  walls: { page: 'agents', anchor: 'what-a-run-can-reach', about: 'what a run can reach' },
  gate: { page: 'problems', anchor: 'the-gate-stays-shut', about: 'the proof gate' },
  plan: { page: 'plans', anchor: 'where-the-plan-comes-from', about: 'where a plan comes from' },
} satisfies Record<string, Topic>

/** A question mark that leads to the help; the style sheet draws it. */
export function HelpLink({ topic }: { topic: keyof typeof HELP_TOPICS }) {
  const { page, anchor, about } = HELP_TOPICS[topic]
  const label = `Help about ${about}`
  return (
    <a class="help-link" href={helpPage(page, anchor)} title={label}>
      <span class="visually-hidden">{label}</span>
    </a>
  )
}
