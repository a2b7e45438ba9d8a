/** What is known of who owns the memory root; null where that process said nothing, or nothing yet. */
type Owner = { pid: number; short?: unknown; unsaid?: unknown; stopped?: unknown } | null

/** A command ends, but on a busy machine even a short one takes its time. */
const COMMAND_MS = 15_000
/** How long a service may take to answer, or to end. */
const SERVICE_MS = 5000

/** Whether it certainly is no command, which would end by itself. */
export function isService(owner: Owner): boolean {
  return owner !== null && owner.short !== true && owner.unsaid !== true
}

/**
 * Whether the owner that was met just now is to be waited for any longer. The time counts for each
 * from when it was met first: commands that follow one another all get on, and the time that the caller
 * itself took to try is nobody's. One that says nothing may be a command. For one that was stopped it is no use.
 */
export function createOwnerPatience(now = () => performance.now()): (owner: Owner) => boolean {
  const met = new Map<number | null, number>()
  return (owner) => {
    const key = owner?.pid ?? null
    const since = met.get(key) ?? now()
    met.set(key, since)
    if (owner?.stopped === true) return false
    return now() - since < (isService(owner) ? SERVICE_MS : COMMAND_MS)
  }
}
