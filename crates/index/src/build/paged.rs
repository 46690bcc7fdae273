//! A vector that grows page by page: items never move, and growing copies nothing.

/// Items per page, as a power of two.
const PAGE_LOG2: u32 = 12;
const PAGE_ITEMS: usize = 1 << PAGE_LOG2;

#[derive(Debug)]
pub(crate) struct Paged<T> {
    pages: Vec<Vec<T>>,
}

impl<T> Default for Paged<T> {
    fn default() -> Self {
        Paged { pages: Vec::new() }
    }
}

impl<T> Paged<T> {
    pub(crate) fn len(&self) -> usize {
        let last = self.pages.last().map_or(PAGE_ITEMS, Vec::len);
        self.pages.len() * PAGE_ITEMS + last - PAGE_ITEMS
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }

    pub(crate) fn push(&mut self, item: T) {
        if self.pages.last().is_none_or(|page| page.len() == PAGE_ITEMS) {
            self.pages.push(Vec::with_capacity(PAGE_ITEMS));
        }
        if let Some(page) = self.pages.last_mut() {
            page.push(item);
        }
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.pages.last_mut().and_then(|page| page.last_mut())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pages.iter().flatten()
    }
}

impl<T> std::ops::Index<u32> for Paged<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: u32) -> &T {
        &self.pages[(at >> PAGE_LOG2) as usize][at as usize % PAGE_ITEMS]
    }
}

impl<T> std::ops::IndexMut<u32> for Paged<T> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.pages[(at >> PAGE_LOG2) as usize][at as usize % PAGE_ITEMS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paged_list_behaves_like_a_vector() {
        let mut paged = Paged::default();
        assert_eq!((paged.len(), paged.last_mut()), (0, None));
        for n in 0..40_000_u32 {
            paged.push(n);
            assert_eq!(paged.len(), n as usize + 1);
            assert_eq!(paged.last_mut(), Some(&mut { n }));
        }
        paged[20_000] = 7;
        assert_eq!((paged[20_000], paged[16_384], paged[39_999]), (7, 16_384, 39_999));
        assert!(paged.iter().copied().eq((0..20_000).chain([7]).chain(20_001..40_000)));
        assert_eq!(paged.memory_bytes(), 160_000);
    }
}
