import type { FoundCaseJson } from '../../http/schemas/search.ts'
import { outcomeLabel } from '../../model/outcomes.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleName, visibleText } from '../../rendering/hidden-characters.ts'
import { casePage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Listed } from '../shell/facts.tsx'
import { Isolated } from '../shell/isolated.tsx'
import { fileUrl } from '../shell/problems.tsx'
import { Time } from '../shell/time.tsx'

/** A search result: the case, the lines that match, and the words of the query that it doesn't have. */
export function FoundCaseItem({ of, number }: { of: FoundCaseJson; number: number }) {
  const { id, title, state, type, outcome, tags, updated_at, missing, lines } = of
  return (
    <li class="card found-case" id={`result-${number}`}>
      <header>
        <h2>
          <a href={casePage(id)} data-row>
            <Isolated text={title} />
          </a>
        </h2>
        <StateBadge state={state} />
      </header>
      <p class="small muted">
        {[...new Set([type, outcome === null ? null : outcomeLabel(outcome), ...tags])]
          .filter((word) => word !== null)
          .join(' · ')}{' '}
        · <Time at={updated_at} />
      </p>
      {missing.length > 0 && (
        <p class="small warn-text">
          Missing: <Listed items={missing.map((word) => <del>{visibleText(word)}</del>)} />
        </p>
      )}
      {lines.length > 0 && (
        <ul class="found-lines">
          {lines.map((line) => (
            <FoundLine id={id} line={line} />
          ))}
        </ul>
      )}
    </li>
  )
}

function FoundLine({ id, line }: { id: string; line: FoundCaseJson['lines'][number] }) {
  const file = line.file.slice(line.file.lastIndexOf(`${id}/`) + id.length + 1)
  const where = `${visibleName(file)}:${line.line}`
  const address = fileUrl(id, { file, line: line.line })
  return (
    <li>
      <span class="found-where" title={visibleName(`${line.file}:${line.line}`)}>
        {address === null ? where : <a href={address}>{where}</a>}
      </span>
      <bdi class="found-text" dir={directionOf(line.text)}>
        {marked(line)}
      </bdi>
    </li>
  )
}

/** The text with its matches marked. */
function marked({ text, marks }: FoundCaseJson['lines'][number]) {
  const ends = [...marks.map(([, to]) => to), text.length]
  return ends.map((end, index) => {
    const from = index === 0 ? 0 : ends[index - 1]!
    const mark = marks[index]
    if (!mark) return visibleText(text.slice(from, end))
    return (
      <>
        {visibleText(text.slice(from, mark[0]))}
        <mark>{visibleText(text.slice(mark[0], end))}</mark>
      </>
    )
  })
}
