import type { Conversation, ConversationAgent } from '../../model/conversation.ts'
import type { Session } from '../../model/session.ts'
import { dialectOf } from '../../runners/agents/hooks/dialects.ts'

/** How an agent presents a plan, as a sentence for it. */
export function howToPlan(agent: ConversationAgent): string {
  const byMcp = 'Hand in a plan with the tool propose_plan of the MCP server casefile.'
  return dialectOf(agent)?.howToPlan ?? byMcp
}

/** How any agent proposes an intent, as sentences for it. */
export function howToPropose(caseId: string): string {
  return `For a change that one sentence says, propose an intent: call propose_plan of the MCP server casefile with intent, paths, commands and proof, or run: casefile start ${caseId.slice(0, 8)} --intent "what you want to do" --paths 'src/login/**' --proof 'npm test'`
}

/** What an agent is told when its conversation begins, before its case. */
export function taskText({ id, title }: { id: string; title: string }, howToPlan: string): string {
  return [
    `This conversation is recorded by Casefile as work on the case "${title}".`,
    'Nothing may be changed until the operator has approved what you want to do: an intent, or a plan. Read what you need, then propose it.',
    `${howToPropose(id)}.`,
    `For more than that, write a plan. ${howToPlan}`,
    'Begin the plan with a section "## Hypothesis": what you believe is the cause, or the way to do it, in a few sentences. Then write "## Plan".',
    'Name in the plan what proves that it worked, as a fenced block that runs a check: a fence with the info string "sh run id=test proof=test" and the test command in it, whose exit code must be that of the tests. Casefile runs it when you stop. Better is a report on standard output, with proof=tap, proof=junit or proof=go. The plan may also limit itself by a section "## Scope" with the lines "- paths: …" and "- commands: …".',
  ].join('\n\n')
}

/** The page of a session in the console. */
export const pageOf = ({ case_id, number }: Session, { url }: { url: string }) =>
  `${url}/case/${case_id}/session/${number}`

/** What the person reads when a conversation becomes work on a case. */
export function boundNotice(title: string): string {
  return `Casefile records this as "${title}"; nothing may change before you approve what it wants to do.`
}

/** What the person reads when a plan begins to wait. */
export function waitingNotice(
  { agent, is_strict }: Pick<Conversation, 'agent' | 'is_strict'>,
  page: string,
): string {
  const where = dialectOf(agent)?.hasDialog && !is_strict ? 'here, at' : 'at'
  return `Casefile: the plan waits for your approval ${where} ${page}, or by: casefile approve`
}

/** What the person reads when the agent no longer waits for the decision. */
export function putOffNotice(page: string): string {
  return `Casefile: the plan waits for your approval at ${page}, or by: casefile approve. Then tell the agent to go on.`
}

/** What the person reads when the work is recorded. */
export function endedNotice({ number, diff, tests }: Session, page: string): string {
  const changes = diff
    ? `, ${diff.file || 'nothing'} changed (+${diff.additions} -${diff.deletions})`
    : ''
  const passed = tests ? `, ${tests.passed} of ${tests.run} tests passed` : ''
  return `Casefile: recorded as session ${number}: complete${changes}${passed}. ${page}`
}

/** What the person reads when a conversation without a case begins. `named`: what CASEFILE_CASE says. */
export function unboundText(named: string | null): string {
  return named === null
    ? 'Casefile: no case is current here, so nothing is recorded or held back. Before your next prompt: casefile agent use <case>'
    : 'Casefile: CASEFILE_CASE names no open case, so nothing is recorded or held back.'
}

/** What the agent is told when the decision on its plan takes longer than its hook can wait. */
export const PUT_OFF =
  "The plan waits for the operator's approval in Casefile; it is not rejected. Stop here: change nothing, do not present it again, and end your turn. With the next prompt you are told whether it is approved."

/** The same with a prompt that comes before the decision. */
export const STILL_WAITS =
  "The plan still waits for the operator's approval in Casefile, so nothing may be changed, whatever this prompt says. Answer what needs no change."

/** What the agent and its person are told with a prompt that comes right after the approval. */
export const BEGINS_SOON =
  'Casefile: the plan is approved, and its tests run once before the work. Nothing may be changed yet: go on with the next prompt, in a moment.'

/** What it is told when it does something else after the approval. */
export const NOT_YET =
  "Casefile: the plan was approved meanwhile, but this turn is not its work. End the turn: the work begins with the person's next prompt."

/** How an agent that was put off begins to carry out the plan; it must leave its own plan mode first. */
export function approvedText(plan: string, notes: string): string {
  const noted = notes === '' ? '' : `\n\n${notesText(notes)}`
  return `The operator approved the plan in Casefile. If you are in plan mode, present exactly this text once more to leave it. Then carry it out; whatever else this prompt asks for needs a plan of its own. The approved text:\n\n${plan}${noted}`
}

/** The same if the session ended before the agent was told. */
export function approvedBeforeText(message: string): string {
  return `${message}\n\nThe service or the machine was restarted meanwhile. Present exactly this text again first: its approval counts.`
}

/** Whether a message says more than that the plan is approved. */
export const hasNotes = (message: string) => message.includes(NOTES)

/** What a message says beyond that the plan is approved; null if nothing. */
export const notesIn = (message: string | null) =>
  message && hasNotes(message) ? message.slice(message.lastIndexOf(NOTES)) : null

/** What the agent is told about an answer to the question of its case. */
export const answeredText = (answer: string) =>
  `The operator answered the question of the case in Casefile:\n\n${answer}`

/** What the agent is told about a plan that was sent back. */
export function sentBackText(note: string): string {
  return `${SENT_BACK}, with this comment:\n\n${note}\n\nChange the plan accordingly and present it again. Nothing may be changed until it is approved.`
}

const SENT_BACK = 'The operator sent the plan back in Casefile'
export const isSentBack = (message: string) => message.startsWith(SENT_BACK)

export function abandonedText(reason: string | undefined): string {
  const why = reason === undefined || reason === '' ? '' : ` The reason: ${reason}`
  return `The operator abandoned this work in Casefile.${why} Do not go on with it.`
}

/** The prompt by which an agent begins to carry out its plan. */
export function goOnText(plan: string, notes: string): string {
  const noted = notes === '' ? '' : `\n\n${notesText(notes)}`
  return `Implement the plan. The operator approved this text:\n\n${plan}${noted}`
}

/** The notes that the operator approved the plan with. */
export function notesText(notes: string): string {
  return `${NOTES}\n\n${notes}`
}

const NOTES = 'Notes of the operator on the approved plan:'
