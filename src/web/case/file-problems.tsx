import type { Problem } from '../../model/problem.ts'
import { remedyOf } from '../../model/problem-remedies.ts'
import { placeOf } from './record-file.ts'

/** What is wrong with the one file that a page shows. */
export function FileProblems({ id, problems }: { id: string; problems: readonly Problem[] }) {
  return (
    <>
      {problems.map((problem) => {
        const place = placeOf(id, problem)
        return (
          <div class="notice" data-kind="bad">
            <p>
              {problem.line !== null && place && (
                <>
                  <a href={place}>Line {problem.line}</a>:{' '}
                </>
              )}
              {problem.message}
            </p>
            <p class="small">What to do: {remedyOf(problem.code)}</p>
          </div>
        )
      })}
    </>
  )
}
