//! The places for connections, and the choice of the connection to close when all places are taken.
//!
//! If no place is free, the connection without progress for the longest time is closed. If one address has
//! too many connections, the closed connection is one of that address. A connection is never closed for
//! another between a request and the head of its answer.
//!
//! **Invariant.** At most [`PLACES`] connections are open, and at most [`PER_ADDRESS`] from one address.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The maximum number of connections. With the files of an index they fit into a limit of 1,024 descriptors.
const PLACES: usize = 768;
/// The maximum number of connections from one address.
const PER_ADDRESS: usize = 256;
/// The mask of the network in an IPv6 address: one customer usually has a whole /64 network.
const V6_NETWORK: u128 = !0 << 64;

/// All connections that are open.
#[derive(Default)]
pub(crate) struct ConnectionSlots {
    taken: Mutex<Vec<Arc<Connection>>>,
    /// Counts the events that are progress.
    clock: AtomicU64,
}

/// An open connection.
struct Connection {
    address: IpAddr,
    /// The time of the last progress, on the clock of [`ConnectionSlots`].
    progress: AtomicU64,
    /// Whether the server is answering a request of this connection.
    is_busy: AtomicBool,
    close: Notify,
}

/// The place of one connection; dropping it frees the place.
pub(crate) struct Slot {
    places: Arc<ConnectionSlots>,
    connection: Arc<Connection>,
}

impl ConnectionSlots {
    /// Takes a place for a new connection. `None` if no place is free and every candidate for closing is busy.
    pub(crate) fn take(places: &Arc<Self>, address: IpAddr) -> Option<Slot> {
        let address = network(address);
        let mut taken = places.taken();
        if count(&taken, address) >= PER_ADDRESS {
            close_idlest(&mut taken, Some(address))?;
        } else if taken.len() >= PLACES {
            close_idlest(&mut taken, None)?;
        }
        let connection = Arc::new(Connection {
            address,
            progress: AtomicU64::new(places.tick()),
            is_busy: AtomicBool::new(false),
            close: Notify::new(),
        });
        taken.push(Arc::clone(&connection));
        drop(taken);
        Some(Slot { places: Arc::clone(places), connection })
    }

    /// Closes the connection without progress for the longest time, unless all are busy.
    pub(crate) fn close_one(&self) {
        let _ = close_idlest(&mut self.taken(), None);
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn taken(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Records that bytes went in or out.
    pub(crate) fn progress(&self) {
        self.connection.progress.store(self.places.tick(), Ordering::Relaxed);
    }

    /// Waits for `answer`. Meanwhile the connection keeps its place.
    pub(crate) async fn while_busy<T>(&self, answer: impl Future<Output = T>) -> T {
        self.connection.is_busy.store(true, Ordering::Relaxed);
        let answer = answer.await;
        self.progress();
        self.connection.is_busy.store(false, Ordering::Relaxed);
        answer
    }

    /// Returns whether few places are left, so that connections should close after their answer.
    pub(crate) fn is_crowded(&self) -> bool {
        let is_scarce = |taken: usize, of: usize| taken > of / 4 * 3;
        let taken = self.places.taken();
        is_scarce(taken.len(), PLACES)
            || is_scarce(count(&taken, self.connection.address), PER_ADDRESS)
    }

    /// Waits until the place is given to another connection.
    pub(crate) async fn closed(&self) {
        self.connection.close.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.places.taken().retain(|other| !Arc::ptr_eq(other, &self.connection));
    }
}

fn count(taken: &[Arc<Connection>], address: IpAddr) -> usize {
    taken.iter().filter(|connection| connection.address == address).count()
}

/// Closes the connection without progress for the longest time, only among those of `address` if given.
/// `None` if all are busy.
fn close_idlest(taken: &mut Vec<Arc<Connection>>, address: Option<IpAddr>) -> Option<()> {
    let may_close = |connection: &Connection| {
        !connection.is_busy.load(Ordering::Relaxed)
            && address.is_none_or(|address| connection.address == address)
    };
    let idle = taken.iter().enumerate().filter(|(_, connection)| may_close(connection));
    let idlest = idle.min_by_key(|(_, connection)| connection.progress.load(Ordering::Relaxed));
    let (at, _) = idlest?;
    taken.swap_remove(at).close.notify_one();
    Some(())
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & V6_NETWORK).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: usize) -> IpAddr {
        IpAddr::from([127, 0, 0, u8::try_from(number % 200).expect("below 200")])
    }

    fn is_closed(seat: &Slot) -> bool {
        let taken = seat.places.taken();
        !taken.iter().any(|connection| Arc::ptr_eq(connection, &seat.connection))
    }

    #[test]
    fn the_longest_idle_connection_is_closed() {
        let places = Arc::new(ConnectionSlots::default());
        let seats: Vec<Slot> = (0..PLACES)
            .map(|i| ConnectionSlots::take(&places, address(i)).expect("a place"))
            .collect();
        seats[0].progress();
        let newcomer = ConnectionSlots::take(&places, address(7)).expect("a place");
        assert!(is_closed(&seats[1]) && !is_closed(&seats[0]) && !is_closed(&newcomer));
        assert_eq!(places.taken().len(), PLACES);
        assert!(newcomer.is_crowded());
        drop(seats);
        assert_eq!(places.taken().len(), 1);
        assert!(!newcomer.is_crowded());
    }

    #[test]
    fn a_crowded_address_loses_its_own_idlest_connection() {
        let places = Arc::new(ConnectionSlots::default());
        let other = ConnectionSlots::take(&places, address(1)).expect("a place");
        let seats: Vec<Slot> = (0..PER_ADDRESS)
            .map(|_| ConnectionSlots::take(&places, address(2)).expect("a place"))
            .collect();
        assert!(seats[0].is_crowded() && !other.is_crowded());
        let newcomer = ConnectionSlots::take(&places, address(2)).expect("a place");
        assert!(is_closed(&seats[0]) && !is_closed(&other) && !is_closed(&newcomer));
    }

    #[tokio::test]
    async fn a_busy_connection_keeps_its_place() {
        let places = Arc::new(ConnectionSlots::default());
        let seats: Vec<Slot> = (0..PER_ADDRESS)
            .map(|_| ConnectionSlots::take(&places, address(3)).expect("a place"))
            .collect();
        let busy = |seat: &Slot| seat.connection.is_busy.store(true, Ordering::Relaxed);
        seats.iter().for_each(busy);
        assert!(ConnectionSlots::take(&places, address(3)).is_none(), "all are busy");
        seats[9].while_busy(async {}).await;
        assert!(ConnectionSlots::take(&places, address(3)).is_some());
        assert!(is_closed(&seats[9]));
        seats[9].closed().await;
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let parsed = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(parsed("2001:db8:1:2::1"), parsed("2001:db8:1:2:3:4:5:6"));
        assert_ne!(parsed("2001:db8:1:2::1"), parsed("2001:db8:1:3::1"));
        assert_eq!(parsed("::ffff:127.0.0.1"), parsed("127.0.0.1"));
    }
}
