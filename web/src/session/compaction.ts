import type { CompactionError } from '@/protocol'

/** Nothing went wrong: there was nothing to do, or somebody stopped it. The snapshot does not tell of these. */
export function answersWish({ fault }: CompactionError): boolean {
  return fault === 'nothing_to_compress' || fault === 'cancelled'
}
