/**
 * What the page draws. Every type here is plain data made by the projections beside this file;
 * components take these objects and never look at protocol data, stores or the clock.
 *
 * Objects are never changed in place: a row that is the same object has not changed.
 */

export type * from './answer'
export type * from './sessionPanels'
export type * from './composer'
export type * from './list'
export type * from './time'
export type * from './transcript'
export type * from './tree'
