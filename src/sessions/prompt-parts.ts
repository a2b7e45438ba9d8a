import { fenceFor } from '../markdown/sections.ts'
import { PLAN_MARKS } from '../runners/agents/plan-marks.ts'

/** Something that is good to know, and that may be left out. */
export interface PromptPart {
  name: string
  text: string
  /** It is not whole already. */
  isCut?: boolean
}

/** Below this a beginning says too little. */
const LEAST_USEFUL_BYTES = 1024

/** Takes the parts in their order while there is room; the first that does not fit is cut short. */
export function packed(
  required: readonly string[],
  parts: readonly PromptPart[],
  maxBytes: number,
) {
  const texts = [...required]
  const files: string[] = []
  const leftOut: string[] = []
  let room = maxBytes - texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 2, 0)
  for (const { name, text, isCut } of parts) {
    const whole = Buffer.byteLength(text) + 2
    if (whole <= room) {
      texts.push(text)
      files.push(name)
      if (isCut) leftOut.push(name)
      room -= whole
      continue
    }
    leftOut.push(name)
    if (room < LEAST_USEFUL_BYTES) continue
    const cut = cutText(text, room - 2)
    texts.push(cut.text)
    files.push(name)
    room = 0
  }
  return { text: `${texts.join('\n\n')}\n`, files, leftOut }
}

/** The beginning of a text, in whole characters, with a line that says that it was cut. */
export function cutText(text: string, maxBytes: number): { text: string; isCut: boolean } {
  if (Buffer.byteLength(text) <= maxBytes) return { text, isCut: false }
  const mark = '\n[casefile: cut here, for want of room]'
  const bytes = Buffer.from(text).subarray(0, Math.max(0, maxBytes - mark.length))
  const whole = new TextDecoder().decode(bytes, { stream: true })
  return { text: whole + mark, isCut: true }
}

const STEP_EXAMPLE = '```sh run id=test timeout=5m proof=tap\nnpm test -- --test-reporter=tap\n```'

export const PLAN_TASK = `You plan a piece of work on a software project. You only plan: nothing is carried out before a person has read your plan and approved it.

- Change nothing: write no file, run nothing that writes. The folder that you are in is a copy of the working folder; a change in it, or anywhere else, makes the planning fail.
- Ask nothing: nobody answers. Where you have to assume something, say so in the plan.
- Read what you need, then answer with one markdown document, between these two marks:

${PLAN_MARKS.begin}
## Hypothesis

What you take to be the cause, or the way to do it, in a few sentences.

## Plan

What is to be done.
${PLAN_MARKS.end}

## How to write the plan

Best is a plan that is carried out exactly as it stands, with no agent: every step a fenced block marked \`run\`, with prose between the blocks where it helps the reader.

${STEP_EXAMPLE}

The languages are sh, bash and js (a module for node). The keys, all optional: id (a word), timeout (such as 90s or 10m), cwd (a folder inside the working folder), expect (exit codes, such as 0,1), continue=true (go on after another exit), proof (tap, junit or go for a step that prints such a report, go being the output of go test -json; log for other evidence). Steps run in order, each in a process of its own without input; the first unexpected exit stops the run. Write files with a step too, a here-document for example. Such a plan must have no list and no other kind of fenced block outside of the steps.

Where the work needs decisions on the way that no script can take, write a numbered list of what an agent is to do. Then give each command that shows the work to be right as a \`run\` block with \`proof=\`: the service runs those itself, once the agent has ended.`

/** The approved text stands whole: its length is bounded where plans are written. */
export function workTask(plan: string, sha256: string): string {
  const fence = fenceFor(plan)
  return `You carry out a plan that a person has read and approved.

- Do what the plan says, all of it, and nothing else. Where it turns out not to be possible, stop and say why.
- The folder that you are in is the working folder: change files only there. Leave the folder with the records of the cases alone: what is approved, verified and resolved is for a person to say.
- Ask nothing: nobody answers. What you are refused counts as a failure.
- Blocks of the plan marked \`run\` with \`proof=\` are run by the service itself, once you have ended.
- End with a short summary of what you changed.

# The approved plan

Its SHA-256 is ${sha256}.

${fence}markdown
${plan}
${fence}`
}
