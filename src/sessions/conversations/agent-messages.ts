import type { Case } from '../../model/case.ts'
import type { ConversationAgent } from '../../model/conversation.ts'

const MAX_DESCRIPTION = 4000

/** How each agent presents a plan, as sentences for it. */
export const HOW_TO_PLAN: Readonly<Record<ConversationAgent, string>> = {
  claude:
    'Present a plan: call EnterPlanMode if you are not in plan mode, write the plan, then call ExitPlanMode.',
  copilot: 'Present a plan: write it, then call exit_plan_mode.',
  cursor: 'Hand in a plan with the tool propose_plan of the MCP server casefile.',
  vscode: 'Hand in a plan with the tool propose_plan of the MCP server casefile.',
  codex:
    'Present a plan in plan mode (the person switches to it with Shift+Tab), or hand one in with the tool propose_plan of the MCP server casefile.',
  gemini: 'Present a plan: call enter_plan_mode, write the plan, then call exit_plan_mode.',
  opencode: 'Hand in a plan with the tool submit_plan.',
  other: 'Hand in a plan with the tool propose_plan of the MCP server casefile.',
}

/** What an agent is told when its conversation begins: its case, and what it may do when. */
export function openingText({ title, description, id }: Case, howToPlan: string): string {
  const text =
    description.length > MAX_DESCRIPTION
      ? `${description.slice(0, MAX_DESCRIPTION).toWellFormed()}…`
      : description
  return [
    `This conversation is recorded by Casefile as work on the case "${title}" (${id}).`,
    text.trim() === '' ? '' : `The case says:\n\n${text.trim()}`,
    'Nothing may be changed until the operator has approved a plan. Read what you need, then present a plan.',
    howToPlan,
    'Name in the plan what proves that it worked, as a fenced block that runs a check: a fence with the info string "sh run id=test proof=log" and the command in it. Casefile runs it when you stop. The plan may also limit itself by a section "## Scope" with the lines "- paths: …" and "- commands: …".',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** What the person reads when a conversation without a case begins. `named`: what CASEFILE_CASE says. */
export function unboundText(named: string | null): string {
  return named === null
    ? 'Casefile: no case is current here, so nothing is recorded or held back. Before your next prompt: casefile use <case>'
    : 'Casefile: CASEFILE_CASE names no open case, so nothing is recorded or held back.'
}

/** What the agent is told about a plan that was sent back. */
export function sentBackText(note: string): string {
  return `The operator sent the plan back in Casefile, with this comment:\n\n${note}\n\nChange the plan accordingly and present it again. Nothing may be changed until it is approved.`
}

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
  return `Notes of the operator on the approved plan:\n\n${notes}`
}
