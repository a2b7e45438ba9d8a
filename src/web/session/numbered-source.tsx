import { visibleText } from '../../rendering/hidden-characters.ts'

/** A row for each of a hundred thousand lines would keep the service from everything else. */
const MAX_NUMBERED = 4000

/** A text with the numbers of its lines; all of it is shown, the end of a very long one without them. */
export function NumberedSource({ text, label }: { text: string; label: string }) {
  const { lines, rest } = numbered(text)
  return (
    <section class="source" aria-label={label} tabindex={0}>
      <table>
        <tbody>
          {lines.map((line, index) => (
            <tr>
              <td class="line-number">{index + 1}</td>
              <td class="code">{visibleText(line)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest !== null && (
        <>
          <p class="notice">From line {lines.length + 1} on the lines are not numbered.</p>
          <pre class="plain">{visibleText(rest)}</pre>
        </>
      )}
    </section>
  )
}

function numbered(text: string): { lines: string[]; rest: string | null } {
  const lines: string[] = []
  let from = 0
  for (const end of text.matchAll(/\r\n|\n|\r/g)) {
    if (lines.length === MAX_NUMBERED) return { lines, rest: text.slice(from) }
    lines.push(text.slice(from, end.index))
    from = end.index + end[0].length
  }
  return { lines: [...lines, text.slice(from)], rest: null }
}
