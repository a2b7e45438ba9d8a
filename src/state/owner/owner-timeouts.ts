/** What is known of the process that owns the memory root; null if it has not answered. */
type Owner = { pid: number; short?: unknown; unrecorded?: unknown; stopped?: unknown } | null

/** A command ends by itself, but on a busy machine that takes a while. */
const COMMAND_MS = 15_000
/** How long a service may take to answer, or to end. */
const SERVICE_MS = 5000

/** Whether the owner is certainly a service: a command would end by itself. */
export function isService(owner: Owner): boolean {
  return owner !== null && owner.short !== true && owner.unrecorded !== true
}

/**
 * How long a start waits until the present owner of the memory root ends: the function says whether to wait any longer.
 * The time of each owner counts from when it was first met, so that commands may follow one another. An owner that does
 * not answer may be a command; a stopped one is not waited for.
 */
export function createOwnerTimeouts(now = () => performance.now()): (owner: Owner) => boolean {
  const met = new Map<number | null, number>()
  return (owner) => {
    const key = owner?.pid ?? null
    const since = met.get(key) ?? now()
    met.set(key, since)
    if (owner?.stopped === true) return false
    return now() - since < (isService(owner) ? SERVICE_MS : COMMAND_MS)
  }
}
