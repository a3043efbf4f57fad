/** Whatever delivers push notifications. Mounting one switches the capability on. */
export interface PushSender {
  /** Why a webhook may not be registered (its address is not allowed, say); undefined when it may (requirement N-6). */
  refuseUrl(url: string): string | undefined;
}
