/** A time as people read it; the exact one is on hover, and the script keeps "ago" current. */
export function Time({ at, ago = true }: { at: string; ago?: boolean }) {
  const text = `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
  return (
    <time datetime={at} title={at} data-ago={ago ? '' : undefined}>
      {text}
    </time>
  )
}
