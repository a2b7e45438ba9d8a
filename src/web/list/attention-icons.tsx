import { ATTENTION_KINDS, type AttentionKind } from '../../model/attention.ts'

/** The shapes, once per page; `AttentionIcon` shows one of them. */
export function AttentionIcons() {
  return (
    <svg class="icon-shapes" aria-hidden="true">
      {ATTENTION_KINDS.map((kind) => (
        <symbol id={`icon-${kind}`} viewBox="0 0 16 16">
          <path d={PATHS[kind]} />
        </symbol>
      ))}
    </svg>
  )
}

export function AttentionIcon({ kind }: { kind: AttentionKind }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`#icon-${kind}`} />
    </svg>
  )
}

/** Strokes in a square of 16: a page with a question, a triangle, a bar, a speech bubble, a cross, a magnifier, a gate, an arrow. */
const PATHS: Record<AttentionKind, string> = {
  plan: 'M3.5 2h6l3 3v9h-9zM6 6.5h1.5M6 9h4M6 11.5h4',
  problem: 'M8 2.2 14.3 13.5H1.7zM8 6.5v3.2M8 11.4v.4',
  blocked: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM5 8h6',
  question: 'M2.5 3h11v8H8l-3 2.8V11H2.5zM6.6 5.7a1.5 1.5 0 1 1 1.4 2M8 9.2v.2',
  failed: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  proof: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.5 3.5M5 7l1.5 1.5L9.2 5.6',
  gate_open: 'M2.5 14V2.5h6V14M2 14h12M8.5 3.5l4 1.5V14M10.4 8.7v.6',
  running: 'M5 3.2v9.6L12.8 8z',
}
