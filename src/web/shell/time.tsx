const WORDS = {
  ago: '',
  exact: '',
  waiting: 'waiting since ',
  running: 'running since ',
}

interface TimeProps {
  at: string
  ago?: boolean
  /** How the script shows it: "5 minutes ago", the exact time, "waiting 5 min" or "running 5 min". */
  as?: keyof typeof WORDS
}

/** A time as people read it; the exact one is on hover, and the script keeps what is relative current. */
export function Time({ at, ago = true, as = ago ? 'ago' : 'exact' }: TimeProps) {
  const text = `${WORDS[as]}${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
  return (
    <time datetime={at} title={at} data-as={as}>
      {text}
    </time>
  )
}
