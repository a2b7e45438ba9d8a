import type { Problem } from '../../model/problem.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'

/** What is wrong with the session's file. */
export function ProblemList({ problems }: { problems: readonly Problem[] }) {
  if (problems.length === 0) return null
  return (
    <section class="notice" data-kind="bad" id="session-problems" aria-labelledby="problems-title">
      <h2 id="problems-title">
        {problems.length === 1 ? 'A problem' : `${problems.length} problems`}
      </h2>
      <ul class="problem-list">
        {problems.map(({ code, file, line, message }) => (
          <li>
            <code>{code}</code> {visibleText(message)}{' '}
            <span class="muted small">
              {file}
              {line === null ? '' : `, line ${line}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
