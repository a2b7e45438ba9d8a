import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { Problem } from '../../model/problem.ts'
import { ansiHtml } from '../../rendering/ansi/look.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { Code } from '../../rendering/highlight/code-view.tsx'
import { highlightLines } from '../../rendering/highlight/highlight.ts'
import type { Language } from '../../rendering/highlight/languages.ts'

/** Preformatted text in a scrolling box. It can be focused, so it needs a name. */
export function TextBox({
  label,
  class: name,
  children,
}: {
  label: string
  class: string
  children: Child
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a <section> would not keep the spaces of the text
    <pre class={name} role="region" aria-label={label} tabindex={0}>
      {children}
    </pre>
  )
}

/** Output in the colours of a terminal; without colours it needs no dark background. */
export function AnsiBox({
  label,
  text,
  class: name = '',
}: {
  label: string
  text: string
  class?: string
}) {
  return (
    <TextBox label={label} class={`${terminalClass(text)} ${name}`.trim()}>
      <AnsiText text={text} />
    </TextBox>
  )
}

export function AnsiText({ text }: { text: string }) {
  return <>{raw(ansiHtml(text))}</>
}

export function terminalClass(text: string): string {
  return text.includes('\u001b[') ? 'terminal' : 'plain-text'
}

/** Each line is an element; many more would block the service while it renders them. */
const MAX_NUMBERED = 5000

/** A step in a source: its lines are marked, and its facts stand above them. */
interface SourceStep {
  number: number
  id: string
  facts: readonly string[]
  lines: readonly number[]
  /** Whether Casefile runs it. */
  runs: boolean
}

interface NumberedSourceProps {
  label: string
  text: string
  language?: Language
  /** Of the file, shown below their lines. */
  problems?: readonly Problem[]
  steps?: readonly SourceStep[]
  /** Whether links lead to its steps. */
  isTarget?: boolean
  /** More to show below a line, which counts from 1. */
  below?: (line: number) => Child
}

/**
 * A text with line numbers that are anchors (`#L12`), in colours. Beyond MAX_NUMBERED lines it has neither.
 */
export async function NumberedSource(props: NumberedSourceProps) {
  const { label, text, language = 'markdown', problems = [], steps = [], below } = props
  const { lines: written, rest } = splitLines(text)
  const lines = written.map(visibleText)
  const tokens = await highlightLines(lines, language)
  const running = new Set(steps.filter(({ runs }) => runs).flatMap((step) => step.lines))
  return (
    <>
      <TextBox label={label} class="plain-text numbered">
        {lines.map((line, index) => {
          const found = problems.filter((problem) => problem.line === index + 1)
          const step = steps.find((each) => each.lines[0] === index + 1)
          const marks = [found.length > 0 && 'bad', running.has(index + 1) && 'runs']
          return (
            <>
              {step && (
                <span
                  class="source-step"
                  id={props.isTarget ? `step-${step.id}` : undefined}
                  data-step={step.id}
                >
                  {step.runs && '▶ '}
                  <span class="step-number">{step.number}</span>{' '}
                  <span class="step-id">{step.id}</span>{' '}
                  <span class="step-facts">{step.facts.join(' · ')}</span>
                </span>
              )}
              <span
                class={['source-line', ...marks].filter(Boolean).join(' ')}
                id={`L${index + 1}`}
              >
                <Code tokens={tokens?.[index] ?? [{ text: line }]} />
                {'\n'}
              </span>
              {found.map(({ message }) => (
                <span class="source-problem">{visibleText(message)}</span>
              ))}
              {below?.(index + 1)}
            </>
          )
        })}
      </TextBox>
      {rest !== null && (
        <>
          <p class="notice">Lines from {lines.length + 1} on have no numbers.</p>
          <TextBox label={`${label}, from line ${lines.length + 1}`} class="plain-text">
            {visibleText(rest)}
          </TextBox>
        </>
      )}
    </>
  )
}

/** Carriage returns stay in the lines, and are shown as signs. */
function splitLines(text: string): { lines: string[]; rest: string | null } {
  const lines: string[] = []
  let from = 0
  for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
    if (lines.length === MAX_NUMBERED) return { lines, rest: text.slice(from) }
    lines.push(text.slice(from, index) + (end === '\n' ? '' : '\r'))
    from = index + end.length
  }
  if (from < text.length || lines.length === 0) lines.push(text.slice(from))
  return { lines, rest: null }
}
