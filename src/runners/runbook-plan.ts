import { outline } from '../markdown/outline.ts'
import { parsedMarkdown } from '../markdown/parser-pool.ts'
import { fenceFor } from '../markdown/sections.ts'
import type { Case } from '../model/case.ts'
import type { PlanRequest, PlanResult } from './contract.ts'
import { detectTests } from './project-tests.ts'

const RUNBOOK_FILE = 'runbook.md'

/**
 * Makes a plan without an agent, from the first of these that exists: the case's runbook.md, the run fences in its
 * description, the steps of casefile.md, the project's test command. Otherwise the plan is a checklist with nothing
 * to run.
 */
export async function planRunbook(request: PlanRequest): Promise<PlanResult> {
  const plan =
    request.memory.get(RUNBOOK_FILE)?.trim() ||
    (await fencesOf(request.case.description)) ||
    stepsPlan(request.steps) ||
    (await testsPlan(request.workdir)) ||
    checklist(request.case)
  return { hypothesis: await hypothesisOf(request.case), plan }
}

async function fencesOf(description: string): Promise<string | null> {
  if (!/`{3}|~{3}/.test(description)) return null
  const parsed = await parsedMarkdown(description)
  const fences = parsed?.fences.filter((fence) => /^run(?:\s|$)/.test(fence.meta ?? '')) ?? []
  if (fences.length === 0) return null
  const blocks = fences.map(({ lang, meta, value }) => block(`${lang} ${meta}`, value))
  return ['Run the steps that the description gives.', ...blocks].join('\n\n')
}

function stepsPlan(steps: readonly string[]): string | null {
  if (steps.length === 0) return null
  const blocks = steps.map((step, index) => block(`sh run id=step-${index + 1}`, step))
  return ['Run the steps from casefile.md.', ...blocks].join('\n\n')
}

async function testsPlan(workdir: string): Promise<string | null> {
  const tests = await detectTests(workdir)
  if (!tests) return null
  const proof = tests.report ?? 'log'
  return [
    `Run the project's own tests (${tests.source}).`,
    block(`sh run id=${tests.id} proof=${proof}`, tests.command),
  ].join('\n\n')
}

function checklist({ title }: Case): string {
  return [
    `There is nothing to run: the case has no runbook.md and no run fences in its description, casefile.md has no steps, and the working folder has no test command. What you can do:`,
    `- [ ] Reproduce: ${title.replace(/\s+/g, ' ')}`,
    '- [ ] Change what needs changing',
    '- [ ] Attach proof that it works',
  ].join('\n')
}

function block(info: string, script: string): string {
  const fence = fenceFor(script)
  return `${fence}${info}\n${script}\n${fence}`
}

/** The description's `## Hypothesis`, else its first paragraph, else a sentence with the title. */
export async function hypothesisOf({ description, title }: Case): Promise<string> {
  const [heading] = (await outline(description, ['Hypothesis'])) ?? []
  if (heading) {
    const parsed = await parsedMarkdown(description)
    const next = parsed?.headings.find(({ start, depth }) => start >= heading.next && depth <= 2)
    const text = description.slice(heading.next, next?.start).trim()
    if (text !== '') return text
  }
  return firstParagraph(description) ?? `No hypothesis yet. The title: ${title}`
}

/** The first paragraph of plain text: no heading, list, quote, table, HTML or fence. */
function firstParagraph(description: string): string | null {
  const prose = description.replace(/^(`{3,}|~{3,})[\s\S]*?^\1[`~]*[ \t]*$/gm, '')
  const blocks = prose.split(/(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)/).map((text) => text.trim())
  return blocks.find((text) => text !== '' && !/^(?:[#>|<`~]|[-*+] |\d+[.)] )/.test(text)) ?? null
}
