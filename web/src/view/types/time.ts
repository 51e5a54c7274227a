/** Unix time in milliseconds, as everywhere. */
export type Millis = number
