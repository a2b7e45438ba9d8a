import type { Problem } from '../../model/problem.ts'
import { placeOf } from './record-file.ts'

interface MendFileProps {
  /** Of the case. */
  id: string
  problem: Problem
  isCompact?: boolean
}

/** In the place of a form that changes a file: while the file cannot be read, the service would refuse. */
export function MendFile({ id, problem, isCompact }: MendFileProps) {
  const address = placeOf(id, problem)
  if (!address) return null
  return (
    <a class={isCompact ? 'button compact' : 'button'} href={address}>
      Mend {problem.file}
    </a>
  )
}
