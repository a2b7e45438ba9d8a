import type { Child } from 'hono/jsx'
import { number } from './number-text.ts'

interface ChipProps {
  text: string
  count: number
  address: string
  current: boolean
  /** An icon before the text. */
  children?: Child
}

/** A filter as a link with the count of what it would show. */
export function Chip({ text, count, address, current, children }: ChipProps) {
  return (
    <a class="chip" href={address} data-filter aria-current={current ? 'true' : undefined}>
      {children}
      {text} <span class="chip-count">{number(count)}</span>
    </a>
  )
}
