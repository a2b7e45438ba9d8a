import { counted } from '../../model/amounts.ts'
import { isMemoryName } from '../../model/memory-name.ts'
import type { Problem } from '../../model/problem.ts'
import { remedyOf } from '../../model/problem-remedies.ts'
import { visibleName, visibleText } from '../../rendering/hidden-characters.ts'
import { memoryPage, proofPage } from './addresses.ts'
import { ShowMore } from './disclosure.tsx'

interface ProblemsListProps {
  /** Of the case. */
  caseId: string
  problems: readonly Problem[]
  /** What follows from them on this page. */
  consequence?: string | undefined
}

/** What is wrong with the files of a case, where, and what to do about it. */
export function ProblemsList({ caseId, problems, consequence }: ProblemsListProps) {
  if (problems.length === 0) return null
  return (
    <section class="notice problems" data-tone="bad" id="problems" aria-labelledby="problems-title">
      <h2 id="problems-title">{counted(problems.length, 'problem')}</h2>
      {consequence !== undefined && <p>{consequence}</p>}
      <ProblemItems caseId={caseId} problems={problems} />
    </section>
  )
}

const MAX_PROBLEMS = 20

interface ProblemItemsProps {
  /** Missing for problems of the workspace. */
  caseId?: string | undefined
  problems: readonly Problem[]
}

export function ProblemItems({ caseId, problems }: ProblemItemsProps) {
  return (
    <ShowMore
      id="more-problems"
      items={problems}
      limit={MAX_PROBLEMS}
      label={`All ${problems.length} problems`}
      list={(some) => <Items caseId={caseId} problems={some} />}
    />
  )
}

function Items({ caseId, problems }: ProblemItemsProps) {
  return (
    <ul class="problem-list">
      {problems.map((problem) => (
        <li>
          <p>
            <Place caseId={caseId} problem={problem} />: {visibleText(problem.message)}
          </p>
          <p class="small">
            What to do: {remedyOf(problem.code)}{' '}
            <code class="tag" title="Problem code">
              {problem.code}
            </code>
          </p>
        </li>
      ))}
    </ul>
  )
}

function Place({ caseId, problem }: { caseId: string | undefined; problem: Problem }) {
  const { file, line } = problem
  const name = caseId !== undefined && file === '.' ? 'The case folder' : visibleName(file)
  const text = line === null ? name : `${name}, line ${line}`
  const url = caseId === undefined ? null : fileUrl(caseId, problem)
  return url ? <a href={url}>{text}</a> : <strong>{text}</strong>
}

/** In place of a form that edits a file, while that file can't be read. */
export function FixFileLink({ caseId, problem }: { caseId: string; problem: Problem }) {
  const url = fileUrl(caseId, problem)
  if (!url) return null
  return (
    <a class="button compact" href={url}>
      Fix {problem.file}
    </a>
  )
}

/** The page that shows a file of the case, at the line of the problem; null if no page does. */
export function fileUrl(
  caseId: string,
  { file, line }: Pick<Problem, 'file' | 'line'>,
): string | null {
  const atLine = line === null ? '' : `?source#L${line}`
  const proof = /^proof\/([0-9a-f-]{36})\.md$/.exec(file)?.[1]
  if (proof) return proofPage(caseId, proof) + atLine
  const name = /^sessions\/(\d+\.md)$/.exec(file)?.[1] ?? (isMemoryName(file) ? file : null)
  return name === null ? null : memoryPage(caseId, name) + atLine
}
