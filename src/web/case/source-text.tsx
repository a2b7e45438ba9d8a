import type { Problem } from '../../model/problem.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'

/** A text of more lines is shown without their numbers: each is an element of its own. */
const MAX_LINES = 10_000

interface SourceTextProps {
  text: string
  /** Of the file. */
  problems: readonly Problem[]
}

/** A text as it stands in its file, with the numbers of its lines and what is wrong with them. */
export function SourceText({ text, problems }: SourceTextProps) {
  const lines = text.replace(/\n$/, '').split('\n')
  if (lines.length > MAX_LINES)
    return (
      <pre class="plain-text" tabindex={0}>
        {visibleText(text)}
      </pre>
    )
  const byLine = new Map<number, string[]>()
  for (const { line, message } of problems)
    if (line !== null) byLine.set(line, [...(byLine.get(line) ?? []), message])
  return (
    <pre class="plain-text source-lines" tabindex={0}>
      {lines.map((line, index) => (
        <Line number={index + 1} text={line} messages={byLine.get(index + 1) ?? []} />
      ))}
    </pre>
  )
}

function Line({ number, text, messages }: { number: number; text: string; messages: string[] }) {
  return (
    <>
      <span
        class="source-line"
        id={`L${number}`}
        data-line={number}
        data-bad={messages.length > 0 ? '' : undefined}
      >
        {`${visibleText(text)}\n`}
      </span>
      {messages.map((message) => (
        <span class="source-problem">{message}</span>
      ))}
    </>
  )
}
